/** What libraries and V8 say of errors, none of which stands in a reply: it would tell of the inside. */
const TEXTS: RegExp[] = [
  /SqliteError|SQLITE_[A-Z]+|\b(UNIQUE|CHECK|FOREIGN KEY|NOT NULL) constraint|no such (table|column)/,
  /\b\w*(Type|Range|Syntax|Reference|URI|Eval|Aggregate|Assertion|Internal)Error\b|AI_\w+Error|ZodError/,
  /\b(ERR|UND_ERR|HPE)_[A-Z]/,
  /\bE(NOENT|ACCES|PERM|ISDIR|NOTDIR|EXIST|CONNREFUSED|CONNRESET|NOTFOUND|AI_AGAIN|PIPE|INVAL)\b/,
  /Cannot (read|set|convert|destructure|access|mix|assign)\b|is not (a function|iterable|a constructor)/,
  /\b(undefined|null) is not (an? |iterable|defined)|properties of (undefined|null)\b|\[object \w+\]|Maximum call stack|Invalid \w+ length/,
  /(^|\s|\\n)at ((async|new) )?[\w$.<>[\] ]+ ?\((file|node|\/|<anonymous>)|node_modules|node:internal|file:\/\/\//,
  /Unexpected (token|end of|non-whitespace|number|string|identifier)|is not valid JSON|JSON at position/,
  /Expected (property name|double-quoted|',' or)|Bad (control|escaped) character|Unterminated string/,
  /"(value|[\w.]+(\[\d+\])?)" (must |is (required|not allowed)|contains |length |fails |does not )/,
  /URI malformed|Invalid (URL|regular expression|time value|character in header|header value|code point)\b/,
  /CronPattern|Headers\.(append|set)|Failed to (parse|execute)|fetch failed|other side closed/,
];

/** The first such text of a reply, with what stands around it; null where there is none. */
export const libraryTextIn = (reply: string): string | null => {
  const plain = reply.replaceAll('\\"', '"');
  for (const text of TEXTS) {
    const at = plain.search(text);
    if (at >= 0) return plain.slice(Math.max(0, at - 120), at + 200);
  }
  return null;
};
