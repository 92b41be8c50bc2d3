/** Returns what the Cloud API refuses of a message, by its documents; null: it takes it. */
export const faultOfWhatsapp = (message: Record<string, unknown>): string | null => {
  if (message.type === 'text') {
    const { body } = Object(message.text);
    const isFit = typeof body === 'string' && body.trim() !== '' && body.length <= 4096;
    return isFit ? null : 'text.body: 1 to 4096 characters';
  }
  if (message.type !== 'interactive') return null;
  const { type, body, action } = Object(message.interactive);
  if (type !== 'button') return 'interactive.type';
  if (body.text.length < 1 || body.text.length > 1024) return 'body.text: 1 to 1024 characters';
  if (action.buttons.length < 1 || action.buttons.length > 3) return 'action.buttons: 1 to 3';
  const titles = new Set<string>();
  for (const { reply } of action.buttons) {
    if (reply.title.length < 1 || reply.title.length > 20) return 'reply.title: 1 to 20 characters';
    if (reply.id.length < 1 || reply.id.length > 256) return 'reply.id: 1 to 256 characters';
    titles.add(reply.title);
  }
  return titles.size === action.buttons.length ? null : 'reply.title: twice the same';
};
