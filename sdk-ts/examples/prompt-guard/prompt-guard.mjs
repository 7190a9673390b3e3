#!/usr/bin/env node
import "../../dist/examples/prompt-guard/main.js";
