/** What stands behind the `#` of a link that an admin gave, or the token that is given alone. */
export const tokenOfLink = (given: string): string => given.trim().replace(/^.*#/, '');
