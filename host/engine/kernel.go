package engine

import (
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/tool"
)

func (e *Engine) tools(*selection.Selection) ([]tool.Tool, error) { return nil, nil }

func (e *Engine) gate() permission.Gate { return nil }
