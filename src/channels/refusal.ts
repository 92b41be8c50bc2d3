const REASONS = {
  wrong_code: 'No such code, or it was used or is over',
  already_linked: 'The sender is linked to an account already',
  too_many_tries: 'Too many tries: wait a minute',
};

/** The error for a sender and an account that were not linked; nothing was changed. */
export class LinkRefused extends Error {
  override name = 'LinkRefused';

  constructor(readonly reason: keyof typeof REASONS) {
    super(REASONS[reason]);
  }
}
