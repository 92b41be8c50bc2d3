/**
 * Returns the address of the daemon for a link: the public one if there is one, or else the host of
 * the admin's request, from its Host header. A header that is not a host gives the address of this
 * machine.
 */
export const addressFor = (publicUrl: string | null, host: string): string => {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const asked = `http://${host}`;
  return URL.canParse(asked) && new URL(asked).host === host ? asked : 'http://localhost';
};
