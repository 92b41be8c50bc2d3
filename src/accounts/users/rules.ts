/**
 * Under which address somebody gets to the daemon: the public one where there is one, else that by
 * which an admin asked, as its Host header says. A header that is no host leads to this machine.
 */
export const addressFor = (publicUrl: string | null, host: string): string => {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const asked = `http://${host}`;
  return URL.canParse(asked) && new URL(asked).host === host ? asked : 'http://localhost';
};
