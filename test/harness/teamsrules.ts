const MAX_BYTES = 28 * 1024;
const RUN = [
  ...['type', 'text', 'weight', 'size', 'italic', 'strikethrough', 'fontType', 'color'],
  'selectAction',
];

/** Why Teams would not show a card, by its documentation. `null` if it would. */
export const cardFault = (message: Record<string, unknown>): string | null => {
  if (2 * JSON.stringify(message).length > MAX_BYTES) return 'the message is over 28 KB';
  const attachments = Array.isArray(message.attachments) ? message.attachments : [];
  if (attachments.length !== 1) return 'one card is expected';
  const { contentType, content } = Object(attachments[0]);
  if (contentType !== 'application/vnd.microsoft.card.adaptive') return 'no Adaptive Card';
  const { type, version, body } = Object(content);
  if (type !== 'AdaptiveCard' || version !== '1.4') return 'no version that Teams shows';
  if (!Array.isArray(body) || body.length === 0) return 'a card without a body';
  return body.every(isBlock) ? null : 'a block that is none of version 1.4';
};

const isBlock = ({ type, inlines }: Record<string, unknown>): boolean =>
  type === 'RichTextBlock' && Array.isArray(inlines) && inlines.length > 0 && inlines.every(isRun);

const isRun = (run: Record<string, unknown>): boolean => {
  const { type, text, selectAction } = run;
  const isKnown = type === 'TextRun' && Object.keys(run).every((key) => RUN.includes(key));
  const isSaid = typeof text === 'string' && text !== '' && !text.includes('\n');
  if (!isKnown || !isSaid || selectAction === undefined) return isKnown && isSaid;
  const { type: action, url } = Object(selectAction);
  return action === 'Action.OpenUrl' && /^https?:\/\//.test(url) && URL.canParse(url);
};
