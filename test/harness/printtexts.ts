import { userTexts } from './texts.js';

/** Prints all texts that users read, tab-separated: kind, place, text. `npm run texts -- src/hooks` */
const words = process.argv.slice(2);
for (const { kind, at, text } of await userTexts()) {
  const line = [kind, at, text.replace(/\s+/g, ' ')].join('\t');
  if (kind !== 'nullable' && words.every((word) => line.includes(word))) console.log(line);
}
