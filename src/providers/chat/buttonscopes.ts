export type ButtonScope = 'conversation' | 'host';

export type ButtonChoice = 'approve' | 'deny' | ButtonScope;

/** At most 20 characters for WhatsApp. */
export const SCOPE_LABELS: Record<ButtonScope, string> = {
  conversation: 'This conversation',
  host: 'This host, 30 days',
};

/** Later calls covered by the approval. */
export const SCOPE_TEXTS: Record<ButtonScope, string> = {
  conversation: 'this tool and host in this conversation',
  host: 'this tool, host, port and method, for this hook or conversation, 30 days',
};

export const buttonScopeIn = (input: unknown): ButtonScope | undefined =>
  input === 'conversation' || input === 'host' ? input : undefined;

export const buttonDecision = (choice: string): { approved: boolean; scope?: ButtonScope } => {
  const scope = buttonScopeIn(choice);
  return { approved: choice !== 'deny', ...(scope && { scope }) };
};
