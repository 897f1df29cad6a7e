/** The visibility of an element according to its declarations. If absent: they do not set it. */
export interface Visibility {
  readonly display?: 'hidden' | 'shown';
  readonly visibility?: 'hidden' | 'shown';
  readonly opacity?: 'hidden' | 'shown';
  /** By another property, which no other rule reverts. */
  readonly other?: 'hidden';
}

export function declaredBy(style: string): Visibility {
  const found: { -readonly [K in keyof Visibility]: Visibility[K] } = {};
  const others: string[] = [];
  for (const declaration of plain(style).split(';')) {
    const [, name = ''] = /^(display|visibility|opacity):/.exec(declaration) ?? [];
    if (name !== 'display' && name !== 'visibility' && name !== 'opacity') others.push(declaration);
    else if (HIDING.test(declaration)) found[name] = 'hidden';
    else if (SHOWING.test(declaration)) found[name] = 'shown';
  }
  if (hides(others.join(';'))) found.other = 'hidden';
  return found;
}

/**
 * An unterminated comment extends to the end, as in a browser. By index: a pattern would search the whole rest each
 * time.
 */
export function withoutComments(css: string): string {
  const parts: string[] = [];
  for (let at = 0; at < css.length; ) {
    const begin = css.indexOf('/*', at);
    parts.push(css.slice(at, begin === -1 ? css.length : begin));
    const end = begin === -1 ? -1 : css.indexOf('*/', begin + 2);
    at = end === -1 ? css.length : end + 2;
  }
  return parts.join(' ');
}

function plain(style: string): string {
  return withoutEscapes(withoutComments(style))
    .toLowerCase()
    .replace(/\s+/g, '')
    .replaceAll('!important', '');
}

/** Whether declarations make an element unreadable. */
function hides(css: string): boolean {
  return (
    HIDING.test(css) ||
    (TRANSPARENT.test(css) && !css.includes('background-clip:text')) ||
    (/(?:^|;)(?:max-)?(?:height|width):0(?:px|em|rem|%)?(?:;|$)/.test(css) &&
      /overflow(?:-[xy])?:(?:hidden|clip)/.test(css))
  );
}

/** `\6eone` is `none`. */
export function withoutEscapes(css: string): string {
  if (!css.includes('\\')) return css;
  return css.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_, code?: string, character = '') => {
    const point = Number.parseInt(code ?? '', 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : character;
  });
}

/** A browser ignores a value that it does not know. */
const SHOWING =
  /^(?:display:(?:-webkit-|-ms-)?(?:block|inline|flow|flex|grid|box|table|list-item|contents|ruby)|visibility:visible|opacity:[\d.]+%?$|\w+:(?:inherit|initial|unset|revert))/;

const HIDING = new RegExp(
  `(?:^|;)(?:${[
    'display:none',
    'visibility:(?:hidden|collapse)',
    'opacity:(?:-[\\d.]+|0*(?:\\.0\\d*)?)%?',
    'font-size:[01]?(?:\\.\\d+)?(?:px|pt)',
    'font-size:0*(?:\\.0\\d*)?(?:em|rem|%)?',
    'font:0(?:px)?/[^;]*',
    'filter:opacity\\(0*(?:\\.0+)?%?\\)',
    'zoom:0',
    'content-visibility:hidden',
    'text-indent:-\\d{3,}(?:\\.\\d+)?(?:px|em|rem|%)?',
    '(?:left|top|right|bottom):-\\d{3,}(?:\\.\\d+)?(?:px|em|rem|vw|vh|%)?',
    'clip:rect\\(0(?:px)?,0(?:px)?,0(?:px)?,0(?:px)?\\)',
    'clip:rect\\(1px,1px,1px,1px\\)',
    '(?:left|top|right|bottom):-\\d{2,}(?:\\.\\d+)?(?:em|rem)',
    'margin(?:-left|-top|-inline-start)?:-\\d{4,}(?:\\.\\d+)?(?:px|em|rem|vw|vh|%)?',
    'clip-path:inset\\((?:50|100)%\\)',
    'clip-path:circle\\(0(?:px|%)?(?:at[^;)]*)?\\)',
    'clip-path:polygon\\(0[0px%,]*\\)',
    'transform:scale[xy]?\\(0(?:\\.0+)?(?:,0(?:\\.0+)?)?\\)',
    'transform:translate(?:x|y|3d)?\\([^;)]*-\\d{4,}[^;)]*\\)',
    'scale:0',
  ].join('|')})(?:;|$)`,
);

/** With the background cut to the text, transparent letters are visible. */
const TRANSPARENT = new RegExp(
  `(?:^|;)color:(?:${[
    'transparent',
    '#[0-9a-f]{3}0',
    '#[0-9a-f]{6}00',
    '(?:rgb|hsl)a\\((?:[^,;)]*,){3}0*(?:\\.0+)?%?\\)',
    '(?:rgb|hsl)a?\\([^/;)]*/0*(?:\\.0+)?%?\\)',
  ].join('|')})(?:;|$)`,
);
