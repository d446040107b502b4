"""Exports of other programs, as they write them, and hostile ones."""

import io
import zipfile

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
<DL><p>
  <DT><H3 ADD_DATE="1600000000">Stone</H3>
  <DL><p>
    <DT><A HREF="{base}/lime" ADD_DATE="1600000000" TAGS="rock,kiln">Lime &amp; kilns</A>
    <DD>Read the part on slaking.
    <DT><H3>Deep</H3>
    <DL><p>
      <DT><A HREF="{base}/slate">Slate</A>
    </DL><p>
  </DL><p>
  <DT><A HREF="javascript:alert(1)">Bookmarklet</A>
  <DT><A HREF="place:sort=8">Most visited</A>
  <DT><A HREF="{base}/gone">Gone</A>
  <DT><A HREF="{base}/lime?utm_source=mail">The same again</A>
</DL><p>
"""

POCKET_HTML = """<!DOCTYPE html><html><head><title>Pocket Export</title></head><body>
<h1>Unread</h1><ul><li><a href="https://example.org/a" time_added="1500000000" tags="one,two">A</a>
</li></ul><h1>Read Archive</h1><ul><li><a href="https://example.org/b" time_added="1" tags="">B</a>
</li></ul></body></html>"""

POCKET_CSV = """title,url,time_added,tags,status
A,https://example.org/a,1500000000,one|two,unread
"""

RAINDROP = """id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite
1,Quarrying,My note,,https://example.org/q,Work/Stone,"rock, kiln",2024-03-01T10:00:00.000Z,,,
2,Loose,,,https://example.org/l,Unsorted,,2024-03-02T10:00:00.000Z,,,
"""

READWISE = """Highlight,Book Title,Book Author,Note,Tags,Location Type,Location,Document tags
"Lime is burnt, then slaked.",On Stone,A. Mason,Compare with cement,kiln,page,12,craft
Slate splits along planes.,On Stone,A. Mason,,,page,40,craft
,On Stone,A. Mason,,,,,
"""

READER = """Title,URL,ID,Document tags,Saved date,Reading progress,Location,Seen
Quarrying,https://example.org/q,01h,"['rock', 'kiln']",2024-03-01 10:00:00+00:00,0.5,archive,True
"""

OPML = """<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body>
<outline text="Stone"><outline type="rss" text="Lime weekly" xmlUrl="{base}/lime.xml"
 htmlUrl="{base}/"/></outline><outline type="rss" text="No feed" xmlUrl="ftp://example.org/x"/>
<outline type="link" text="A page" url="{base}/lime"/><outline text="Empty"/></body></opml>"""

NOTE = """---
title: Slaking lime
tags: [rock, "#kiln"]
created: 2023-05-06
---
Add water to quicklime, and stand back: it boils.
"""


def zipped(members: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return made.getvalue()


VAULT: dict[str, str | bytes] = {
    "Vault/Stone/Slaking.md": NOTE,
    "Vault/Plain.md": "A plain note without any front matter at all.",
    "Vault/Stone/short.md": "Too short",
    "Vault/Stone/kiln.png": b"\x89PNG",
    "Vault/.obsidian/app.json": "{}",
    "__MACOSX/Vault/._Plain.md": "noise",
}
