import { messageLines } from './markdown/message.js';
import { writePlain } from './markdown/plain.js';
import { splitText } from './markdown/split.js';
import type { ChannelMessage, PlatformBody, PlatformField, PlatformSettings } from './platform.js';

/** Meta accepts 1,024 characters for the whole body; the rest is for the template text. */
const MAX_PARAMETER_LENGTH = 900;
const BETWEEN = ' \u00b7 ';
const CUT = ' \u2026 The whole text is in the app.';
const TOO_LONG_TO_SHOW = 'This call is too long to show here. Read it in the app.';

/** Parameter name in a template with numbered parameters. */
const NUMBERED = '1';

export const templateFields: readonly PlatformField[] = [
  {
    name: 'templateName',
    doc: 'Optional, for messages more than 24 hours after the last message of the user. Name of an approved template (WhatsApp Manager, Message templates) whose body has one parameter, such as "Your assistant says: {{1}} Answer to talk to it."',
    isSecret: false,
    form: { pattern: /^[a-z0-9_]{1,512}$/, fault: 'must be lower-case letters, digits and _' },
  },
  {
    name: 'templateLanguage',
    doc: 'Optional language of the template, such as pt_BR. Defaults to en',
    isSecret: false,
    form: { pattern: /^[a-z]{2,3}(_[A-Za-z]{2,4})?$/, fault: 'must be a language such as pt_BR' },
  },
  {
    name: 'templateParameter',
    doc: 'Optional name of the template parameter. Defaults to 1, for {{1}}',
    isSecret: false,
    form: {
      pattern: /^(1|[a-z][a-z0-9_]{0,59})$/,
      fault: 'must be 1, or lower-case letters, digits and _',
    },
  },
];

/** null if no template is set. `plain` removes the effect of marks. */
export const createWhatsappTemplate = (
  { values }: PlatformSettings,
  plain: (text: string) => string,
) => {
  const { templateName, templateLanguage = 'en', templateParameter = NUMBERED } = values;
  if (templateName === undefined) return null;
  const named = templateParameter !== NUMBERED && { parameter_name: templateParameter };
  return (message: ChannelMessage): PlatformBody => {
    const parameters = [{ type: 'text', ...named, text: formatTemplateParameter(message, plain) }];
    const template = {
      name: templateName,
      language: { code: templateLanguage },
      components: [{ type: 'body', parameters }],
    };
    return { type: 'template', template };
  };
};

/**
 * One line, since Meta rejects line breaks, tabs and four spaces in a row. A call that does not fit
 * is not shown, so that nobody approves a part.
 */
const formatTemplateParameter = (
  message: ChannelMessage,
  plain: (text: string) => string,
): string => {
  const { title, question } = message;
  const text = writePlain(messageLines({ ...message, title: null }));
  const whole = plain(oneLine(title ?? '', text));
  if (whole.length <= MAX_PARAMETER_LENGTH) return whole || '(no text)';
  if (question) return shortened(plain(oneLine(title ?? '')), `${BETWEEN}${TOO_LONG_TO_SHOW}`);
  return shortened(whole, CUT);
};

const shortened = (text: string, end: string): string => {
  const [first = ''] = splitText(text, MAX_PARAMETER_LENGTH - end.length);
  return first.trimEnd() + end;
};

const oneLine = (...texts: string[]): string =>
  texts
    .flatMap((text) => text.split('\n'))
    .map((line) => line.replace(/[\s\p{Cc}]+/gu, ' ').trim())
    .filter((line) => line !== '')
    .join(BETWEEN);
