"""Capturing from elsewhere: a bookmarklet, a phone's share menu, and what receives both."""

import json
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.templatetags.static import static
from django.urls import reverse

from console.bring_forms import CaptureForm
from console.pages import ConsoleView
from knowledge.errors import QuarryError
from knowledge.imports import batches
from knowledge.ingest.capturing import add_captured_page

# The new window is of this origin, and so has the person's session. It says when it listens; only
# then is the page sent, to this origin alone. If a site cuts the two apart, its link still comes.
_BOOKMARKLET = """(()=>{const o=%s,d=document,p=o+"/capture?url="+encodeURIComponent(location.href)
+"&title="+encodeURIComponent(d.title),w=open(p,"_blank","width=640,height=720");
addEventListener("message",function f(e){if(e.source===w&&e.origin===o&&e.data==="quarry:ready"){
removeEventListener("message",f);const c=d.documentElement.cloneNode(true);
c.querySelectorAll('script:not([type="application/ld+json"]),style,svg,iframe,noscript').forEach(
n=>n.remove());w.postMessage({quarry:1,url:location.href,html:c.outerHTML},o)}})})()"""


class CaptureToolsView(ConsoleView):
    """The bookmarklet to drag, and how a phone shares to Quarry."""

    def get(self, request: HttpRequest) -> HttpResponse:
        origin = settings.QUARRY_PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
        code = _BOOKMARKLET.replace("\n", "") % json.dumps(origin)
        bookmarklet = "javascript:" + quote(code, safe="(){}[]=>,;:.+?!&|\"'/ ")
        return self.show("console/capture_tools.html", {"bookmarklet": bookmarklet})


class CaptureView(ConsoleView):
    """A page that a bookmarklet sends: shown, and added when the person says so."""

    def get(self, request: HttpRequest) -> HttpResponse:
        told = {name: request.GET.get(name, "") for name in ("url", "title")}
        return self._page(CaptureForm(initial=told, access=self.access))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = CaptureForm(request.POST, access=self.access)
        if form.is_valid():
            try:
                return self._add(form)
            except QuarryError as error:
                form.refuse(error)
        return self._page(form, status=422)

    def _add(self, form: CaptureForm) -> HttpResponse:
        told = form.cleaned_data
        if not told["html"]:
            options = batches.ImportOptions(folder_id=form.folder_id, tags=form.tag_list)
            batches.add_links(self.access, told["url"], options)
            return self.show("console/captured.html", {"url": told["url"]})
        added = add_captured_page(
            self.undoable,
            url=told["url"],
            html=told["html"],
            title=told["title"].strip() or None,
            tags=form.tag_list,
            folder_id=form.folder_id,
        )
        return self.show("console/captured.html", {"item": added.item, "url": told["url"]})

    def _page(self, form: CaptureForm, *, status: int = 200) -> HttpResponse:
        context = {"form": form, "url": form["url"].value() or ""}
        response = self.show("console/capture.html", context, status=status)
        # The window that opened this one may speak to it; it can do nothing else.
        response["Cross-Origin-Opener-Policy"] = "unsafe-none"
        return response


def manifest(request: HttpRequest) -> HttpResponse:
    """What a phone needs to install the console, and to share to it."""
    icons = [
        {"src": static(f"console/icon-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png"}
        for size in (192, 512)
    ]
    told = {
        "name": "Quarry",
        "short_name": "Quarry",
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f7f7f5",
        "theme_color": "#1f57b5",
        "icons": icons,
        "share_target": {
            "action": reverse("console:add"),
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
        "shortcuts": [{"name": "Add", "url": reverse("console:add")}],
    }
    return JsonResponse(told, content_type="application/manifest+json")
