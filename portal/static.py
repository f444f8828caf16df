"""Static files under names that change with their content, ES module imports included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Rewrites `import … from "./x.js"` in our own modules, so that a page never mixes modules of two releases.

    Files of other packages are left alone: their comments may name modules that they do not ship.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "annotation/js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("umls_linker/js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )
