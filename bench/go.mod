module github.com/octet-dev/octet/bench

go 1.26.0

require github.com/octet-dev/octet v0.0.0

replace github.com/octet-dev/octet => ../
