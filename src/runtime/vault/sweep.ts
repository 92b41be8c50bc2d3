const SHOWN = '[secret]';
/** Ours: a shorter piece of a value may stand in a text by chance. */
const SHORTEST_PIECE = 8;

/** Replaces every one of the values in a text, however it is written there. */
export type Sweep = (text: string) => string;

/** As they are, and as they are usually written elsewhere: base64, hex, in an address, in JSON. */
export const sweeper = (values: string[]): Sweep => {
  const forms = values.flatMap((value) => [value, ...encodedForms(value)]);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((left, form) => left.replaceAll(form, SHOWN), text);
};

const encodedForms = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  return [
    ...base64Forms(bytes),
    ...[hex, hex.toUpperCase()].filter(({ length }) => length >= SHORTEST_PIECE),
    encodeURIComponent(value),
    new URLSearchParams({ '': value }).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
  ];
};

/**
 * In base64 a value looks otherwise by how many bytes stand before it, as a name does before a
 * password. Of each way the characters that are the value's alone.
 */
const base64Forms = (bytes: Buffer): string[] => {
  const whole = [bytes.toString('base64'), bytes.toString('base64url')];
  const shifted = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((form) =>
      padded.toString(form).slice(first, last),
    );
  });
  return [...whole, ...shifted.filter(({ length }) => length >= SHORTEST_PIECE)];
};
