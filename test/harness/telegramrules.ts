interface Entity {
  type: string;
  offset: number;
  length: number;
}

/** Ports accepted by `setWebhook`. */
const PORTS = ['', '443', '80', '88', '8443'];
/** Entities that cannot contain others, by the Bot API. */
const CLOSED = ['code', 'pre'];
const STYLES = ['bold', 'italic', 'underline', 'strikethrough', 'spoiler'];
const QUOTES = ['blockquote', 'expandable_blockquote'];

/** Refusal of a call, by the documentation of the Bot API. `null` if it is accepted. */
export const telegramFault = (method: string, call: Record<string, unknown>): string | null => {
  if (method === 'setWebhook') return faultOfAddress(call);
  if (method !== 'sendMessage' && method !== 'editMessageText') return null;
  const text = String(call.text ?? '');
  if (text.trim() === '') return 'message text is empty';
  if (text.length > 4096) return 'message is too long';
  const entities: Entity[] = Array.isArray(call.entities) ? call.entities : [];
  const fault = entities.map((entity) => faultOfEntity(entity, text)).find((each) => each !== null);
  return fault ?? faultOfNesting(entities) ?? faultOfButtons(call.reply_markup);
};

const faultOfAddress = ({ url, secret_token }: Record<string, unknown>): string | null => {
  const { protocol, port } = new URL(String(url));
  if (protocol !== 'https:') return 'bad webhook: An HTTPS URL must be provided for webhook';
  if (!PORTS.includes(port)) {
    return 'bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443';
  }
  return /^[\w-]{1,256}$/.test(String(secret_token))
    ? null
    : 'secret token contains unallowed characters';
};

const faultOfEntity = ({ type, offset, length }: Entity, text: string): string | null => {
  const isKnown = [...CLOSED, ...STYLES, ...QUOTES].includes(type);
  if (!isKnown) return `can't parse entities: unsupported type ${type}`;
  const isWithin = offset >= 0 && length > 0 && offset + length <= text.length;
  if (!isWithin) return "can't parse entities: ENTITY_BOUNDS_INVALID";
  const edges = [text.slice(offset, offset + length), text.slice(0, offset)];
  // Half of a character at an edge.
  return edges.some((part) => /\p{Cs}/u.test(part))
    ? "can't parse entities: ENTITY_BOUNDS_INVALID"
    : null;
};

/** Overlapping entities must be nested, and not all of them may be. */
const faultOfNesting = (entities: Entity[]): string | null => {
  const fault = "can't parse entities: they overlap";
  if (entities.length > 100) return 'the fake takes 100 entities; Telegram ignores the others';
  for (const [at, a] of entities.entries()) {
    for (const b of entities.slice(at + 1)) {
      const isApart = a.offset + a.length <= b.offset || b.offset + b.length <= a.offset;
      if (isApart) continue;
      const [outer, inner] = a.length >= b.length ? [a, b] : [b, a];
      const isInside =
        outer.offset <= inner.offset && inner.offset + inner.length <= outer.offset + outer.length;
      const isClosed =
        CLOSED.includes(outer.type) || (inner.type === 'code' && STYLES.includes(outer.type));
      const isNested = QUOTES.includes(outer.type) && QUOTES.includes(inner.type);
      if (!isInside || isClosed || isNested) return fault;
    }
  }
  return null;
};

const faultOfButtons = (markup: unknown): string | null => {
  const { inline_keyboard: rows = [] } = Object(markup);
  for (const { text, callback_data } of rows.flat()) {
    if (String(text ?? '') === '') return 'text buttons must be non-empty';
    const bytes = Buffer.byteLength(String(callback_data ?? ''));
    if (bytes < 1 || bytes > 64) return 'BUTTON_DATA_INVALID';
  }
  return null;
};
