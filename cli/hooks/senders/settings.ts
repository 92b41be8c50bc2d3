/** What a person enters at a sender, in the words of its own pages. */
export interface SenderSettings {
  label: string;
  /** The way to the form. */
  where: string;
  /** Fields by their names; `{url}` is the hook's address, `{secret}` says where the secret is. */
  facts: Record<string, string>;
  /** Where the sender shows the secret, if it makes that itself. */
  theirs?: string;
  /** Further lines; `<hook>` is the hook. */
  notes?: string[];
}

export const EVENTS_OF_HOOK = 'the ones that this hook is for';
