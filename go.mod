module github.com/octet-dev/octet

go 1.26
