package wire

import "reflect"

// filled returns v with an empty slice or map wherever there is a nil one, so that a host never
// meets null where its types promise a list. What the caller holds stays as it is: the way to a
// change is copied, the rest is shared.
func filled(v any) any {
	if v == nil {
		return nil
	}
	out, changed := fill(reflect.ValueOf(v))
	if !changed {
		return v
	}
	return out.Interface()
}

func fill(v reflect.Value) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.Slice:
		return fillSlice(v)
	case reflect.Map:
		if v.IsNil() {
			return reflect.MakeMap(v.Type()), true
		}
	case reflect.Struct:
		return fillStruct(v)
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		elem, changed := fill(v.Elem())
		if !changed {
			return v, false
		}
		p := reflect.New(elem.Type())
		p.Elem().Set(elem)
		return p, true
	default:
	}
	return v, false
}

func fillSlice(v reflect.Value) (reflect.Value, bool) {
	elem := v.Type().Elem().Kind()
	if elem == reflect.Uint8 { // bytes and raw JSON
		return v, false
	}
	if v.IsNil() {
		return reflect.MakeSlice(v.Type(), 0, 0), true
	}
	if elem != reflect.Struct && elem != reflect.Pointer && elem != reflect.Slice {
		return v, false
	}
	out, changed := v, false
	for i := range v.Len() {
		e, c := fill(v.Index(i))
		if !c {
			continue
		}
		if !changed {
			out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
			changed = true
		}
		out.Index(i).Set(e)
	}
	return out, changed
}

func fillStruct(v reflect.Value) (reflect.Value, bool) {
	out, changed := v, false
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		f, c := fill(v.Field(i))
		if !c {
			continue
		}
		if !changed {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
			changed = true
		}
		out.Field(i).Set(f)
	}
	return out, changed
}
