import type { MailMessage } from '../../src/client/index.js';

/** Query parameters of the list of e-mails. */
export interface MailQuery {
  q?: string;
  from?: string;
  folder?: string;
  category?: MailMessage['category'];
  unread?: boolean;
  hasAttachments?: boolean;
}

const CATEGORIES: readonly MailMessage['category'][] = [
  ...(['personal', 'work', 'newsletter', 'notification'] as const),
  ...(['invoice', 'event', 'spam', 'other'] as const),
];

/**
 * Parses `category:invoice`, `from:bob`, `folder:Archive`, `is:new` and `has:files`. The mail
 * server searches all other words.
 */
export const mailQuery = (filter: string): MailQuery => {
  const words: string[] = [];
  const query: MailQuery = {};
  for (const word of filter.split(/\s+/).filter((each) => each !== '')) {
    const [name = '', value = ''] = word.split(/:(.*)/s);
    const category = CATEGORIES.find((each) => each === value.toLowerCase());
    if (name === 'category' && category) query.category = category;
    else if ((name === 'from' || name === 'folder') && value !== '') query[name] = value;
    else if (word === 'is:new') query.unread = true;
    else if (word === 'has:files') query.hasAttachments = true;
    else words.push(word);
  }
  return words.length === 0 ? query : { ...query, q: words.join(' ') };
};
