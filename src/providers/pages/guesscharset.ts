import { analyse } from 'chardet';

interface Decoder {
  encoding: string;
  decode(bytes: Uint8Array): string;
}

interface Guess {
  decoder: Decoder;
  /** False if the bytes are as plausible in another encoding. */
  isCertain: boolean;
}

interface Candidate {
  decoder: Decoder;
  text: string;
  faults: number;
  confidence: number;
}

const SAMPLE_BYTES = 128 * 1024;
const SAMPLE_CHARS = 4 * 1024;

/** Upper half of code page 850, which the WHATWG standard omits. */
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

/** By how common they are. The last two are unknown to the detector. */
const DECODERS: Decoder[] = [
  ...['windows-1252', 'windows-1250', 'windows-1251', 'windows-1254', 'windows-1253'],
  ...['windows-1257', 'windows-1255', 'windows-1256', 'windows-1258', 'windows-874'],
  ...['iso-8859-2', 'iso-8859-5', 'iso-8859-6', 'iso-8859-7', 'iso-8859-8', 'koi8-r'],
  ...['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr', 'macintosh'],
]
  .map((name): Decoder => new TextDecoder(name))
  .concat({
    encoding: 'cp850',
    decode: (bytes) =>
      Buffer.from(bytes)
        .toString('latin1')
        .replace(/[\x80-\xff]/g, (sign) => CP850[sign.charCodeAt(0) - 128] ?? ''),
  });
const SUPERSETS = new Map([
  ['iso-8859-1', 'windows-1252'],
  ['iso-8859-9', 'windows-1254'],
]);

/** Letters beyond ASCII of the languages that have few of them. */
const ALPHABETS = [
  ...['äöüß', 'àâæçéèêëîïôœùûüÿ', 'áéíñóúüªº', 'áâãàçéêíóôõúªº', 'àèéìíîòóùú', 'åäöé', 'æøåéó'],
  ...['áèéëïóöü', 'àçèéíïòóúü', 'áðéíóúýþæö', 'áčďéěíňóřšťúůýž', 'áäčďéíľňóôšťúýž', 'óąćęłńśźż'],
  ...['áéíóöőúüű', 'âîăşţ', 'čćđšž', 'çğıöşüâîû', 'äõöüšž', 'āčēģīķļņšūž', 'ąčęėįšųūž'],
].map((letters) => new Set(letters));
const SCRIPTS = [
  ...['Cyrillic', 'Greek', 'Hebrew', 'Arabic', 'Thai', 'Hangul'].map((name) => `\\p{sc=${name}}`),
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}ー',
].map((script) => new RegExp(`^[${script}]*$`, 'u'));

/** What is rare in text, and common in text of another encoding. */
const FAULTS = new RegExp(
  [
    '[\\x80-\\x9f\\ufffd˝˛ˇ˘\\p{Cn}\\p{Co}]',
    // A capital letter after a small one, or before one.
    '(?<=\\p{Ll})(?![A-Z])\\p{Lu}|(?![a-z])\\p{Ll}(?=[A-Z])',
    // A sign within a word.
    '(?<=\\p{L})(?![\\x00-\\x7f’‘–—…\\u00ad\\u2010\\u2011])[^\\p{L}\\p{M}\\p{Nd}\\p{Z}](?=\\p{L})',
    '(?<=\\p{L})[‚„¿¡¢¤]|(?<=\\p{L})[\\u2500-\\u259f]|[\\u2500-\\u259f](?=\\p{L})',
    // A letter of another script, or beside a digit.
    '(?<=[A-Za-z])(?![\\p{sc=Latin}µ])\\p{L}|(?![\\p{sc=Latin}µ])\\p{L}(?=[A-Za-z])',
    '(?<=\\d)(?![\\x00-\\x7fµ])[\\p{Lu}\\p{Ll}]|(?![\\x00-\\x7fµ])[\\p{Lu}\\p{Ll}](?=\\d)',
  ].join('|'),
  'gu',
);

/** Confidence in an encoding of Windows, in percent. The detector says little of short texts. */
const WINDOWS_CONFIDENCE = 20;
const MIN_LEAD = 20;

/** Guesses the encoding of bytes that are not UTF-8. */
export const guessEncoding = (body: Uint8Array): Guess => {
  const found = analyse(body.subarray(0, SAMPLE_BYTES));
  const confidences = new Map(
    found.map(({ name, confidence }) => {
      const lower = name.toLowerCase();
      return [SUPERSETS.get(lower) ?? lower, confidence];
    }),
  );
  const sample = collectSample(body);
  const candidates = DECODERS.map((decoder): Candidate => {
    const { encoding } = decoder;
    const text = decoder.decode(sample);
    const confidence =
      (confidences.get(encoding) ?? 0) +
      (/^windows-125[0124]$/.test(encoding) ? WINDOWS_CONFIDENCE : 0);
    const faults = (text.match(FAULTS)?.length ?? 0) + (isOfOneLanguage(text) ? 0 : 0.5);
    return { decoder, text, faults, confidence };
  });
  const best = candidates.reduce((one, other) => (isBetter(other, one) ? other : one));
  const isRival = ({ text, faults, confidence }: Candidate): boolean =>
    faults === best.faults && text !== best.text && confidence > best.confidence - MIN_LEAD;
  // Of encodings that do not differ in this text, the most common one.
  const { decoder = best.decoder } = candidates.find(({ text }) => text === best.text) ?? {};
  return { decoder, isCertain: !candidates.some(isRival) };
};

const isBetter = (one: Candidate, other: Candidate): boolean =>
  one.faults === other.faults ? one.confidence > other.confidence : one.faults < other.faults;

/** Lines with characters beyond ASCII, which alone differ. */
const collectSample = (body: Uint8Array): Uint8Array => {
  const lines = Buffer.from(body.subarray(0, SAMPLE_BYTES)).toString('latin1').split('\n');
  const some = lines.filter((line) => /[\x80-\xff]/.test(line)).join('\n');
  return Buffer.from(some.slice(0, SAMPLE_CHARS), 'latin1');
};

const isOfOneLanguage = (text: string): boolean => {
  const letters = [...new Set(text.toLowerCase().match(/(?![\x00-\x7fµ])\p{L}/gu) ?? [])];
  if (ALPHABETS.some((alphabet) => letters.every((letter) => alphabet.has(letter)))) return true;
  const all = letters.join('');
  return SCRIPTS.some((script) => script.test(all));
};
