// What an agent does, by whichever client is given: list, call, page, read, prompt, complete.

export async function walk(client, { call, resourcePage }) {
  const steps = [];
  const onprogress = (step) => steps.push(step.message);
  const tools = (await client.listTools()).tools;
  const found = await call("search_knowledge_base", { query: "granite", limit: 3 });
  const note = { kind: "text", title: "By a client", text: "Added by a client of another make." };
  const added = await call("add_to_knowledge", note, { onprogress });
  const refused = await refusal(call("search_knowledge_base", { query: "x", limit: 99 }));
  const pages = await everyPage(resourcePage);
  const everything = (await client.listResources()).resources;
  const uris = pages.flat().map((resource) => resource.uri);
  const read = await client.readResource({ uri: found.content.at(-1).uri });
  const folders = await client.readResource({ uri: "quarry://folders" });
  const missing = await refusal(client.readResource({ uri: "quarry://items/nobody" }));
  const templates = (await client.listResourceTemplates()).resourceTemplates;
  const prompts = (await client.listPrompts()).prompts;
  const prompt = await client.getPrompt({
    name: "research",
    arguments: { question: "What is granite?", folder: "Stones" },
  });
  const completion = await client.complete({
    ref: { type: "ref/prompt", name: "research" },
    argument: { name: "folder", value: "st" },
  });
  return {
    tools: tools.map((tool) => tool.name),
    found,
    added,
    refused,
    steps,
    pages: pages.map((page) => page.length),
    uris,
    listed: everything.length,
    read: read.contents[0],
    folders: folders.contents[0],
    missing,
    templates: templates.map((template) => template.uriTemplate),
    prompts: prompts.map((each) => each.name),
    prompt: prompt.messages[0].content.text,
    completion: completion.completion.values,
  };
}

async function everyPage(resourcePage) {
  const pages = [];
  let cursor;
  do {
    const page = await resourcePage(cursor ? { cursor } : {});
    pages.push(page.resources);
    cursor = page.nextCursor;
  } while (cursor);
  return pages;
}

async function refusal(asked) {
  try {
    return { answered: await asked };
  } catch (error) {
    return { code: error.code, data: error.data };
  }
}
