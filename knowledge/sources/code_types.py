"""What code is declared as and named by, and which names are of files that are never taken."""

CODE_TYPES = {
    f"application/{name}"
    for name in (
        *("ecmascript", "graphql", "javascript", "json5", "jsonl", "ld+json", "sql", "toml"),
        *("typescript", "x-csh", "x-httpd-php", "x-javascript", "x-latex", "x-ndjson", "x-perl"),
        *("x-php", "x-python", "x-python-code", "x-ruby", "x-sh", "x-shellscript", "x-sql"),
        *("x-tcl", "x-tex", "x-toml", "x-typescript", "x-yaml", "yaml"),
    )
}
"""What code and its settings are declared as, beside text/…; all of it is read as plain text."""

CODE_ENDINGS = frozenset(
    (
        *("bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "cxx"),
        *("dart", "diff", "dockerfile", "ex", "exs", "fish", "fs", "go", "gradle", "graphql"),
        *("groovy", "h", "hcl", "hh", "hpp", "hs", "ini", "ipynb", "java", "jl", "js", "json5"),
        *("jsonl", "jsx", "kt", "kts", "less", "lisp", "log", "lua", "m", "make", "makefile"),
        *("mjs", "ml", "mm", "nim", "nix", "patch", "php", "pl", "pm", "properties", "proto"),
        *("ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scm", "scss", "sh", "sql"),
        *("styl", "sv", "svelte", "swift", "tcl", "tex", "tf", "toml", "ts", "tsx", "txt", "v"),
        *("vb", "vhd", "vim", "vue", "yaml", "yml", "zig", "zsh"),
    )
)
"""Names of code that browsers and `mimetypes` know no type for, or a wrong one."""

NO_TYPE = frozenset({"application/octet-stream", "binary/octet-stream", "video/mp2t"})
NOT_TEXT = frozenset({"text/xml", "text/rtf", "text/richtext"})
NEVER_TAKEN = frozenset(
    (
        *("7z", "apk", "avi", "avif", "bin", "bz2", "class", "deb"),
        *("dll", "dmg", "doc", "dot", "exe", "gz", "heic", "heif", "iso", "jar"),
        *("msi", "otf", "pkg", "pps", "ppt", "psd", "pyc", "rar", "rpm"),
        *("rtf", "so", "sqlite", "svg", "tar", "tgz", "ttf", "war", "wasm", "wma", "wmv", "woff"),
        *("woff2", "xls", "xz", "zip", "zst"),
    )
)
"""Endings of files that are of no kind that is taken, whatever they are declared as."""
