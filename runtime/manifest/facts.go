package manifest

import (
	"reflect"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/manifest/semver"
)

// Product facts of the spec, by their name in its table.
const (
	octetVersion = "octet_version"
	fileName     = "file"
)

// FileName is the name of every manifest.
func FileName() string { return product(fileName) }

// OctetVersion is the octet version that this module implements: what requires_octet is matched against
// and what initialize reports. It is not the release number of our commands (S33).
func OctetVersion() semver.Version {
	version, err := semver.Parse(product(octetVersion))
	if err != nil {
		panic("the spec names an octet version that is none: " + err.Error())
	}
	return version
}

func product(name string) string {
	for _, row := range manifestdoc.TableProduct {
		if row.Name == name {
			return row.Value
		}
	}
	panic("the spec has no product fact " + name)
}

// knownKeys lists the keys of the table at a pointer, in the order of the spec.
func knownKeys(pointer string) []string {
	table := reflect.TypeFor[manifestdoc.Manifest]()
	if pointer != "" {
		for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			if _, isNumber := number(token); !isNumber {
				table = memberType(table, token)
			}
		}
	}
	var keys []string
	if table != nil && table.Kind() == reflect.Struct {
		for i := range table.NumField() {
			keys = append(keys, table.Field(i).Tag.Get("json"))
		}
	}
	return keys
}

// memberType is the struct of a member, or of the elements of a member that is a list; nil for anything
// else. An optional member says what it holds by its method Get.
func memberType(table reflect.Type, key string) reflect.Type {
	if table == nil || table.Kind() != reflect.Struct {
		return nil
	}
	for i := range table.NumField() {
		if table.Field(i).Tag.Get("json") != key {
			continue
		}
		member := table.Field(i).Type
		if get, optional := member.MethodByName("Get"); optional {
			member = get.Type.Out(0)
		}
		if member.Kind() == reflect.Slice {
			member = member.Elem()
		}
		return member
	}
	return nil
}

// listedValues reads the legal values of an enumeration out of the violation's own words.
func listedValues(v *wirejson.Violation) []string {
	_, list, _ := strings.Cut(v.Detail, "use one of ")
	return strings.Split(list, ", ")
}

// validName reports whether a name may be that of an environment variable.
func validName(name string) bool {
	return manifestdoc.ValidateModel("EnvironmentName", wirejson.AppendString(nil, name)) == nil
}
