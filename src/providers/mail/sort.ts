export interface SortedFacts {
  subject: string;
  from: string;
  own: string;
  snippet: string;
  /** Header field by lower-case name. */
  field(name: string): string | null;
  files: { name: string; mediaType: string }[];
  isReply: boolean;
}

type SortedCategory =
  | 'personal'
  | 'work'
  | 'newsletter'
  | 'notification'
  | 'invoice'
  | 'event'
  | 'spam'
  | 'other';

/** Priority 0 (can wait) to 3 (urgent). */
export interface SortedMail {
  category: SortedCategory;
  priority: number;
}

/** Headers first, then the text. */
export const sortMail = (facts: SortedFacts): SortedMail => {
  const category = pickMailCategory(facts);
  return { category, priority: computeMailPriority(facts, category) };
};

const INVOICE = /\b(?:invoice|receipt|payment due|amount due|rechnung|facture|factura)\b/i;
const NO_REPLY =
  /^(?:no-?reply|do-?not-?reply|notifications?|alerts?|mailer-daemon|postmaster|bounces?)[@+.-]/i;

const pickMailCategory = (facts: SortedFacts): SortedCategory => {
  const { subject, from, own, field, files } = facts;
  if (/^yes/i.test(field('x-spam-flag') ?? '')) return 'spam';
  if (files.some(({ mediaType, name }) => mediaType === 'text/calendar' || /\.ics$/i.test(name))) {
    return 'event';
  }
  if (INVOICE.test(subject)) return 'invoice';
  if (NO_REPLY.test(from) || /^auto-/i.test(field('auto-submitted') ?? '')) return 'notification';
  const isBulk = /^(?:bulk|list|junk)$/i.test(field('precedence') ?? '');
  if (isBulk || field('list-unsubscribe') !== null || field('list-id') !== null) {
    return 'newsletter';
  }
  if (from === '') return 'other';
  const domain = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
  return domain(from).toLowerCase() === domain(own).toLowerCase() ? 'work' : 'personal';
};

const URGENT = /\b(?:urgent|asap|immediately|dringend|action required)\b/i;

const computeMailPriority = (facts: SortedFacts, category: SortedCategory): number => {
  if (category === 'spam' || category === 'newsletter') return 0;
  const text = facts.field('x-priority') ?? facts.field('importance') ?? '';
  const isUrgent = /^[12]\b|^high/i.test(text) || URGENT.test(facts.subject);
  if (category === 'notification') return isUrgent ? 2 : 1;
  if (isUrgent) return 3;
  return facts.isReply || category === 'invoice' || category === 'event' ? 2 : 1;
};
