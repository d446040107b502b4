// What a text costs by the tokenizers of three families of models. Usage: count_tokens.mjs FILE
import { readFileSync } from "node:fs";
import { countTokens as claude } from "@anthropic-ai/tokenizer";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";

const text = readFileSync(process.argv[2], "utf8");
console.log(JSON.stringify({ claude: claude(text), cl100k: cl100k(text), o200k: o200k(text) }));
