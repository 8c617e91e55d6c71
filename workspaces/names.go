package workspaces

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxName is the longest name, in bytes: far below every file system's and git's limits.
const maxName = 64

// A name is a folder, a branch and a word in commands: it starts with a letter or digit, so that no
// command takes it for an option, and is the same on disks that ignore case.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckName says what is wrong with a workspace's name, as a Refusal with a suggestion.
func CheckName(name string) error {
	if validName.MatchString(name) {
		return nil
	}
	r := &Refusal{
		Code:       NameInvalid,
		Message:    fmt.Sprintf("%q cannot be a workspace's name: use 1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit. The title can be anything.", name),
		Suggestion: Slug(name),
		Choices:    []Choice{ChooseName},
	}
	return r
}

// wholeLetters are the letters that no accent makes, so that Unicode does not take them apart.
var wholeLetters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ł", "l", "þ", "th", "ð", "d", "ı", "i")

// slugLength keeps names that are made from a title readable in a sidebar.
const slugLength = 40

// Slug makes a name of any text: accents dropped, everything else that names cannot have becomes a
// hyphen, cut at a word. It is "" for a text without a Latin letter or digit.
func Slug(text string) string {
	var b strings.Builder
	for _, c := range norm.NFKD.String(wholeLetters.Replace(strings.ToLower(text))) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_' && b.Len() > 0:
			b.WriteRune(c)
		case unicode.Is(unicode.Mn, c): // the accent of the letter before
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-_")
	if len(s) <= slugLength {
		return s
	}
	if cut := strings.LastIndexByte(s[:slugLength+1], '-'); cut > slugLength/2 {
		return s[:cut]
	}
	return strings.Trim(s[:slugLength], "-_")
}

var (
	adjectives = strings.Fields(`amber apt bold brave brief bright brisk calm clear clever cosy crisp deft eager early even
		fair fast fine firm fond fresh frank gentle glad golden good grand green handy happy hardy honest keen kind late
		lean light lively loyal lucid lucky mellow merry mild neat new nimble noble open patient plain polite proud quick
		quiet rapid ready rosy round sage sharp silver sleek smart snug soft solid sound spry stable steady still strong
		sunny sure sweet swift tall tidy tiny trim true vivid warm wide wise witty young`)
	nouns = strings.Fields(`alder anchor arch aspen badger barn basin bay beacon beech birch bridge brook cabin cairn canal
		canoe cedar chapel chart cliff cloud comet coral cove crane creek crest dale dawn delta dune elm ember fern field
		finch fjord forge fox garden gate glade glen grove gull harbor hare hazel heath heron hill inlet island ivy jetty
		juniper kite lagoon lake lantern larch lark ledge linden loft lynx maple marsh meadow mill moor moss oak orchard
		otter owl path peak pier pine plover pond poplar prairie quarry quill raven reed reef ridge river robin rowan sail
		sparrow spring spruce stone strand stream summit swan terrace thicket thistle tide tower trail vale valley willow
		wren yew`)
)

// twoWords makes a name of two words at random.
func twoWords() string { return pick(adjectives) + "-" + pick(nouns) }

func pick(words []string) string {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(len(words))))
	if err != nil {
		return words[0] // crypto/rand does not fail since Go 1.24; uniqueness does not rest on it
	}
	return words[n.Int64()]
}

// numbered makes name unlike itself: name, name-2, name-3, within the length limit.
func numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	suffix := fmt.Sprintf("-%d", n)
	if len(name)+len(suffix) > maxName {
		name = strings.TrimRight(name[:maxName-len(suffix)], "-_")
	}
	return name + suffix
}
