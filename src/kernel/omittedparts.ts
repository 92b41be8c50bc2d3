/** Sentence about the parts of an e-mail that are not listed. Empty if there are none. */
export const formatOmittedParts = ({
  attachmentsOmitted,
}: {
  attachmentsOmitted: number;
}): string =>
  attachmentsOmitted === 0
    ? ''
    : `Attachments and parts that are not listed: ${attachmentsOmitted}. ` +
      'Open the e-mail in a mail program to see them.';
