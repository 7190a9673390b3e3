#!/usr/bin/env node
import "../../dist/examples/word-count/main.js";
