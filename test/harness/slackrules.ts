const INLINE: Record<string, string[]> = {
  text: ['type', 'text', 'style'],
  link: ['type', 'url', 'text', 'style'],
};
const STYLE = ['bold', 'italic', 'strike', 'code'];
const SECTIONS = ['rich_text_section', 'rich_text_preformatted', 'rich_text_quote'];

/** Used keys of Block Kit objects. */
const KEYS: Record<string, string[]> = {
  section: ['type', 'text'],
  actions: ['type', 'elements'],
  rich_text: ['type', 'elements'],
  button: ['type', 'text', 'action_id', 'value', 'style', 'confirm'],
  plain_text: ['type', 'text', 'emoji'],
  mrkdwn: ['type', 'text', 'verbatim'],
};

/**
 * Error with which Slack refuses the body of `chat.postMessage` or `chat.update`, by its
 * documentation (Block Kit, reference). `null` if it accepts it.
 */
export const slackFault = (message: Record<string, unknown>): string | null => {
  const { channel, text = '', blocks = [] } = message;
  if (typeof channel !== 'string' || !/^[CDGU][A-Z0-9]+$/.test(channel)) return 'channel_not_found';
  if (String(text).length > 40_000) return 'msg_too_long';
  if (text === '' && Object(blocks).length === 0) return 'no_text';
  if (!Array.isArray(blocks) || blocks.length > 50) return 'invalid_blocks_format';
  return blocks.every(isBlock) ? null : 'invalid_blocks';
};

const isBlock = (block: Record<string, unknown>): boolean => {
  if (!hasKnownKeys(block)) return false;
  const elements = elementsOf(block);
  if (block.type === 'section') return isText(block.text, 3000);
  if (block.type === 'actions') {
    const isFew = elements.length > 0 && elements.length <= 25;
    const isEachOnce = new Set(elements.map((each) => each.action_id)).size === elements.length;
    return isFew && isEachOnce && elements.every(isButton);
  }
  return block.type === 'rich_text' && elements.every(isRich) && elements.length > 0;
};

const hasKnownKeys = (given: Record<string, unknown>): boolean =>
  Object.keys(given).every((key) => KEYS[String(given.type)]?.includes(key));

const elementsOf = ({ elements }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(elements) ? elements : [];
const hasElements = (of: Record<string, unknown>): boolean => elementsOf(of).length > 0;

const isText = (given: unknown, most: number): boolean => {
  const { type, text } = Object(given);
  const isKnown = ['plain_text', 'mrkdwn'].includes(type) && hasKnownKeys(Object(given));
  return isKnown && text.length > 0 && text.length <= most;
};

const isButton = (button: Record<string, unknown>): boolean => {
  const { type, text, action_id, value, style, confirm } = button;
  const isStyled = style === undefined || style === 'primary' || style === 'danger';
  return (
    type === 'button' &&
    hasKnownKeys(button) &&
    isStyled &&
    isPlain(text, 75) &&
    isWithin(action_id, 255) &&
    isWithin(value, 2000) &&
    (confirm === undefined || isConfirm(Object(confirm)))
  );
};

const isPlain = (given: unknown, most: number): boolean =>
  Object(given).type === 'plain_text' && isText(given, most);

const isWithin = (given: unknown, most: number): boolean =>
  typeof given === 'string' && given.length > 0 && given.length <= most;

const isConfirm = ({ title, text, confirm, deny, ...rest }: Record<string, unknown>): boolean =>
  Object.keys(rest).length === 0 &&
  isPlain(title, 100) &&
  isText(text, 300) &&
  isPlain(confirm, 30) &&
  isPlain(deny, 30);

const isRich = (element: Record<string, unknown>): boolean => {
  const { type, style, indent, offset } = element;
  if (!hasElements(element)) return false;
  if (type !== 'rich_text_list') {
    return SECTIONS.includes(String(type)) && elementsOf(element).every(isInline);
  }
  const isListed = style === 'bullet' || style === 'ordered';
  const numbers = [indent ?? 0, offset ?? 0].every(
    (each) => Number.isInteger(each) && Number(each) >= 0,
  );
  const isDeep = Number(indent ?? 0) > 8;
  return isListed && numbers && !isDeep && elementsOf(element).every(isSection);
};

const isSection = (element: Record<string, unknown>): boolean =>
  element.type === 'rich_text_section' && isRich(element);

const isInline = (element: Record<string, unknown>): boolean => {
  const known = INLINE[String(element.type)];
  const keys = Object.keys(element);
  const isKnown =
    known?.every((key) => key !== undefined) && keys.every((key) => known.includes(key));
  const isStyled = Object.keys(Object(element.style)).every((key) => STYLE.includes(key));
  const isSaid =
    element.type === 'link'
      ? URL.canParse(String(element.url)) && isWithin(element.url, 3000)
      : element.text !== '';
  return isKnown === true && isStyled && isSaid;
};
