const INLINE: Record<string, string[]> = {
  text: ['type', 'text', 'style'],
  link: ['type', 'url', 'text', 'style'],
};
const STYLE = ['bold', 'italic', 'strike', 'code'];
const SECTIONS = ['rich_text_section', 'rich_text_preformatted', 'rich_text_quote'];

/** Returns the error with which Slack refuses a message, by its documents; null: it takes it. */
export const faultOfSlack = (message: Record<string, unknown>): string | null => {
  const { text = '', blocks = [] } = message;
  if (String(text).length > 40_000) return 'msg_too_long';
  if (text === '' && Object(blocks).length === 0) return 'no_text';
  if (!Array.isArray(blocks) || blocks.length > 50) return 'invalid_blocks_format';
  return blocks.every(isBlock) ? null : 'invalid_blocks';
};

const isBlock = (block: Record<string, unknown>): boolean => {
  if (block.type === 'section') return isText(block.text, 3000);
  if (block.type === 'actions') return elementsOf(block).every(isButton);
  return block.type === 'rich_text' && elementsOf(block).every(isRich) && hasElements(block);
};

const elementsOf = ({ elements }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(elements) ? elements : [];
const hasElements = (of: Record<string, unknown>): boolean => elementsOf(of).length > 0;

const isText = (given: unknown, most: number): boolean => {
  const { type, text } = Object(given);
  return ['plain_text', 'mrkdwn'].includes(type) && text.length > 0 && text.length <= most;
};

const isButton = ({ type, text, action_id, value }: Record<string, unknown>): boolean =>
  type === 'button' &&
  isText(text, 75) &&
  String(action_id).length <= 255 &&
  String(value).length <= 2000;

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
  const isSaid = element.type === 'link' ? URL.canParse(String(element.url)) : element.text !== '';
  return isKnown === true && isStyled && isSaid;
};
