package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	base := base(t)
	for _, test := range []struct{ ref, want string }{
		{"HTTP://EXAMPLE.org:80", "http://example.org/"},
		{"https://example.org:443/", "https://example.org/"},
		{"http://example.org:/x", "http://example.org/x"},
		{"http://[::1]:80/x", "http://[::1]/x"},
		{"http://user:secret@example.org/x", "http://example.org/x"},
		{"http://B\u00dcCHER.example:8080/", "http://xn--bcher-kva.example:8080/"},
		{"", "http://example.org/dir/page.html?q=1"},
		{"#top", "http://example.org/dir/page.html?q=1"},
		{"?q=2", "http://example.org/dir/page.html?q=2"},
		{"//other.example/x", "http://other.example/x"},
		{" \n/x\ty \n", "http://example.org/xy"},
		{"http://example.org/a/./b/../c", "http://example.org/a/c"},
		{"../../../x", "http://example.org/x"},
		{"a/%2e%2E/b", "http://example.org/dir/b"},
		{"/a/", "http://example.org/a/"},
		{"/a//b", "http://example.org/a//b"},
		{"/a%2Fb", "http://example.org/a%2Fb"},
		{"/%7euser/%41", "http://example.org/~user/A"},
		{"/caf%c3%a9", "http://example.org/caf%C3%A9"},
		{"/%2541", "http://example.org/%2541"},
		{"/a?x=\u00e9&y=a b", "http://example.org/a?x=%C3%A9&y=a+b"},
		{"/a?b=2&a=1", "http://example.org/a?a=1&b=2"},
		{"/a?b=2&a=2&a=1&c", "http://example.org/a?a=2&a=1&b=2&c="},
		{"/a?a-b=1&a=1", "http://example.org/a?a=1&a-b=1"},
		{"/a?x=%26&y=%3D", "http://example.org/a?x=%26&y=%3D"},
	} {
		got, err := resolve(base, test.ref)
		if assert.NoError(t, err, "%q", test.ref) {
			assert.Equal(t, test.want, got.String(), "%q", test.ref)
			again, err := resolve(&url.URL{}, got.String())
			assert.NoError(t, err)
			assert.Equal(t, got, again, "the normal form of a normal form is itself")
		}
	}
	for _, ref := range []string{"mailto:a@example.org", "javascript:void(0)", "ftp://example.org/", "http:", "/100%", "/a?x=%", "http://[broken/", "http://a:b/", "data:,x"} {
		_, err := resolve(base, ref)
		assert.Error(t, err, "%q", ref)
	}
}

func TestReadLinks(t *testing.T) {
	base, links, err := readLinks(strings.NewReader(`<!doctype html>
		<link href="/style.css"><img src="/image.png">
		<A HREF="/one?a=1&amp;b=2">1</A> <a href='two' REL="noopener NoFollow">2</a> <a name=x>no link</a>
		<map><area href=three></map> <a href="">4</a>
		<script>"<a href='/script'>"</script> <!-- <a href="/comment"> --> <textarea><a href="/text"></textarea>
		<base target=_top><base href=" /base/ "><base href="/late/">
		<a href="/cut`), base(t))
	require.NoError(t, err)
	assert.Equal(t, []link{{"/one?a=1&b=2", false}, {"two", true}, {"three", false}, {"", false}}, links)
	assert.Equal(t, "http://example.org/base/", base.String())
}

func base(t *testing.T) *url.URL {
	u, err := url.Parse("http://example.org/dir/page.html?q=1#here")
	require.NoError(t, err)
	return u
}
