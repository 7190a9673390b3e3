#!/usr/bin/env node
import "../../dist/examples/word-count-canonical/main.js";
