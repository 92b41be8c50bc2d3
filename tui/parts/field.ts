import type { FieldVerb } from '../keys.js';
import type { FormField } from '../state/ui.js';

/** Maximum length of a line and of a message, in UTF-16 units. */
const MAX_FIELD_LENGTH = 2000;
const MAX_TEXT_LENGTH = 100_000;

export const openField = (use: FormField['for'], text = ''): FormField => ({
  for: use,
  text,
  at: text.length,
  chosen: 0,
});

/** Inserts the text at the cursor. Line feeds become spaces, except in a message. */
export const insertText = (field: FormField, text: string): FormField => {
  const added =
    field.for === 'text'
      ? text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]+/g, ' ')
      : text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  const most = field.for === 'text' ? MAX_TEXT_LENGTH : MAX_FIELD_LENGTH;
  const next = (field.text.slice(0, field.at) + added + field.text.slice(field.at)).slice(0, most);
  return { ...field, text: next, at: Math.min(most, field.at + added.length), chosen: 0 };
};

export const applyEditKey = (field: FormField, verb: FieldVerb): FormField => {
  const { text, at } = field;
  switch (verb) {
    case 'clear':
    case 'clear-or-leave':
      return { ...field, text: '', at: 0, chosen: 0 };
    case 'line':
      return field.for === 'text' ? insertText(field, '\n') : field;
    case 'rub':
      return cutOut(field, before(text, at), at);
    case 'cut-word':
      return cutOut(field, text.slice(0, at).replace(/\S*\s*$/, '').length, at);
    case 'cut-end':
      return cutOut(field, at, text.length);
    case 'left':
      return { ...field, at: before(text, at) };
    case 'right':
      return { ...field, at: after(text, at) };
    case 'start-of-line':
      return { ...field, at: 0 };
    case 'end-of-line':
      return { ...field, at: text.length };
    case 'choose-down':
      return { ...field, chosen: field.chosen + 1 };
    case 'choose-up':
      return { ...field, chosen: Math.max(0, field.chosen - 1) };
    default:
      return field;
  }
};

const cutOut = (field: FormField, from: number, to: number): FormField => ({
  ...field,
  text: field.text.slice(0, from) + field.text.slice(to),
  at: from,
  chosen: 0,
});

/** The cursor moves by whole characters. One outside the basic plane has two UTF-16 units. */
const before = (text: string, at: number): number =>
  Math.max(0, at - ([...text.slice(0, at)].at(-1)?.length ?? 0));
const after = (text: string, at: number): number => at + ([...text.slice(at)][0]?.length ?? 0);
