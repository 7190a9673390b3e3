#!/usr/bin/env node
import "../../dist/examples/bar-chart/main.js";
