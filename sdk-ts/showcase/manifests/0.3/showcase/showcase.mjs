#!/usr/bin/env node
process.env.OCTET_EXTENSION_API_VERSION ??= "0.3";
await import("../../../../dist/showcase/main.js");
