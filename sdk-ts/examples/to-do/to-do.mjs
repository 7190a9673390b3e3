#!/usr/bin/env node
import "../../dist/examples/to-do/main.js";
