/** A page for browsers. Its files are beside the code that they belong to. */
export interface WebPage {
  /** Such as `/invite`. All pages share the stylesheet, `/invite/page.css`. */
  path: string;
  html(): URL;
  /** By name: `page.js` is `/invite/page.js`. */
  scripts: Record<string, () => URL>;
}
