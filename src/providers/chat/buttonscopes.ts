/** The scopes in which an approval may stand for later calls. */
export type ButtonScope = 'conversation' | 'host';

/** The choices of the buttons under a question. */
export type ButtonChoice = 'approve' | 'deny' | ButtonScope;

/** The labels of their buttons, within the 20 characters of WhatsApp. */
export const SCOPE_LABELS: Record<ButtonScope, string> = {
  conversation: 'This conversation',
  host: 'This host, 30 days',
};

/** The later calls that an approval in a scope covers beside the one that is shown. */
export const SCOPE_TEXTS: Record<ButtonScope, string> = {
  conversation: 'this tool and host in this conversation',
  host: 'this host, port and method, for this hook or conversation, 30 days',
};

/** Returns the scope that a text from a platform names; undefined if it names none. */
export const buttonScopeIn = (given: unknown): ButtonScope | undefined =>
  given === 'conversation' || given === 'host' ? given : undefined;

/** Returns what a pressed button decides. */
export const buttonDecision = (choice: string): { approved: boolean; scope?: ButtonScope } => {
  const scope = buttonScopeIn(choice);
  return { approved: choice !== 'deny', ...(scope && { scope }) };
};
