/** The token of a link that an admin gave, which stands behind its `#`; or the token itself. */
export const tokenOfLink = (given: string): string => given.trim().replace(/^.*#/, '');
