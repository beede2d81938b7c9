package configs

// DidYouMean names the word that is most like a misspelt one, as the beginning of what is known: "" if none is like it.
func DidYouMean(misspelt string, known []string) string {
	best, least := "", 1+max(1, len(misspelt)/4)
	for _, word := range known {
		if d := distance(misspelt, word); d < least {
			best, least = word, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "? "
}

// distance is how many characters are to be inserted, removed or replaced, or swapped with their neighbour, to make one
// word the other.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
