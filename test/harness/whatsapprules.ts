/** Approved template: the text around its parameter, and the name of the parameter, if any. */
export interface Template {
  name: string;
  language: string;
  words: string;
  parameter?: string;
}

/** Error code and text of a refusal by the Cloud API. */
export type WhatsappFault = readonly [code: number, details: string];

/**
 * Refusal of a body of `POST /{phone number id}/messages`, by the documentation of the Cloud API.
 * `null` if it is accepted. The given templates are approved.
 */
export const whatsappFault = (
  message: Record<string, unknown>,
  approved: readonly Template[] = [],
): WhatsappFault | null => {
  const { messaging_product, recipient_type, to, recipient, type, ...content } = message;
  if (messaging_product !== 'whatsapp') return [100, 'messaging_product'];
  if (recipient_type !== 'individual') return [100, 'recipient_type'];
  if ((to === undefined) === (recipient === undefined)) return [100, 'to or recipient'];
  if (to !== undefined && !isText(to, /^\+?\d{5,15}$/)) return [131009, 'to'];
  if (recipient !== undefined && !isText(recipient, /^[A-Z]{2}\.\w{1,128}$/)) {
    return [131009, 'recipient'];
  }
  if (Object.keys(content).join() !== type) return [100, `only ${type} may be beside its type`];
  if (type === 'text') return faultOfText(Object(content.text));
  if (type === 'interactive') return faultOfInteractive(Object(content.interactive));
  return type === 'template'
    ? faultOfTemplate(Object(content.template), approved)
    : [131051, 'type'];
};

const isText = (value: unknown, form: RegExp): boolean =>
  typeof value === 'string' && form.test(value);

const isWithin = (text: unknown, most: number): boolean =>
  typeof text === 'string' && text.trim() !== '' && text.length <= most;

const hasOnly = (given: object, keys: string[]): boolean =>
  Object.keys(given).every((key) => keys.includes(key));

const faultOfText = (text: Record<string, unknown>): WhatsappFault | null => {
  if (!hasOnly(text, ['body', 'preview_url'])) return [100, 'text: an unknown key'];
  if (typeof (text.preview_url ?? false) !== 'boolean') return [100, 'text.preview_url'];
  return isWithin(text.body, 4096) ? null : [100, 'text.body: 1 to 4096 characters'];
};

const faultOfInteractive = (interactive: Record<string, unknown>): WhatsappFault | null => {
  if (!hasOnly(interactive, ['type', 'body', 'action'])) {
    return [131009, 'interactive: an unknown key'];
  }
  const { type, body, action } = interactive;
  if (type !== 'button') return [131009, 'interactive.type'];
  if (!isWithin(Object(body).text, 1024)) return [131009, 'body.text: 1 to 1024 characters'];
  const { buttons = [] } = Object(action);
  if (buttons.length < 1 || buttons.length > 3) return [131009, 'action.buttons: 1 to 3'];
  const titles = new Set<string>();
  const ids = new Set<string>();
  for (const { type: kind, reply } of buttons) {
    if (kind !== 'reply') return [131009, 'buttons.type'];
    if (!isWithin(reply.title, 20)) return [131009, 'reply.title: 1 to 20 characters'];
    if (!isWithin(reply.id, 256)) return [131009, 'reply.id: 1 to 256 characters'];
    titles.add(reply.title);
    ids.add(reply.id);
  }
  const isEachOnce = titles.size === buttons.length && ids.size === buttons.length;
  return isEachOnce ? null : [131009, 'reply: twice the same title or id'];
};

const faultOfTemplate = (
  { name, language, components }: Record<string, unknown>,
  approved: readonly Template[],
): WhatsappFault | null => {
  const template = approved.find(
    (one) => one.name === name && one.language === Object(language).code,
  );
  if (!template) return [132001, 'template.name'];
  const parts: { type: string; parameters: Record<string, unknown>[] }[] = Array.isArray(components)
    ? components
    : [];
  const parameters = parts.flatMap((part) => (part.type === 'body' ? part.parameters : []));
  const [parameter] = parameters;
  if (parameters.length !== 1 || parameter?.type !== 'text') return [132000, 'parameters'];
  if (parameter.parameter_name !== template.parameter) return [132012, 'parameter_name'];
  const text = String(parameter.text);
  if (/[\n\r\t]| {4}/.test(text)) return [132018, 'parameter.text'];
  const body = template.words.replace(/\{\{\w+\}\}/, () => text);
  return text !== '' && isWithin(body, 1024) ? null : [132005, 'the body: 1 to 1024 characters'];
};
