import { Link } from '@tanstack/react-router';
import type { ButtonHTMLAttributes, ComponentProps, ReactNode } from 'react';
import { cx } from './cx.ts';
import { Icon } from './icons.tsx';
import type { IconName } from './icons.tsx';

type Kind = 'primary' | 'plain' | 'quiet' | 'danger';

const KINDS: Record<Kind, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover border-transparent',
  plain: 'bg-surface text-ink border-line-strong/45 hover:border-line-strong',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-surface text-danger border-danger/40 hover:bg-danger-soft',
};

interface Look {
  kind?: Kind;
  icon?: IconName;
  small?: boolean;
  children?: ReactNode;
}

const look = (kind: Kind, small?: boolean, className?: string) =>
  cx(
    'inline-flex items-center justify-center gap-2 rounded-lg border font-medium whitespace-nowrap transition-colors no-underline disabled:opacity-55 disabled:cursor-not-allowed',
    small ? 'min-h-8 px-2.5 text-[0.87rem]' : 'min-h-10 px-4',
    // A thumb is wider than a pointer.
    'pointer-coarse:min-h-[44px]',
    KINDS[kind],
    className,
  );

export function Button({
  kind = 'plain',
  icon,
  small,
  busy,
  children,
  className,
  disabled,
  ...rest
}: Look & { busy?: boolean } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type="button"
      className={look(kind, small, className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy ? <Spinner /> : icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </button>
  );
}

export function LinkButton({
  kind = 'plain',
  icon,
  small,
  children,
  className,
  ...rest
}: Look & Omit<ComponentProps<typeof Link>, 'children'>) {
  return (
    <Link className={look(kind, small, className as string)} {...rest}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </Link>
  );
}

/** Looks like a button and is saved by the browser, which shows how far it is. */
export function SaveButton({ icon, small, children, href, as }: Look & { href: string; as: string }) {
  return (
    <a className={look('plain', small)} href={href} download={as}>
      {icon && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </a>
  );
}

/** An icon alone, with a name for those who cannot see it. */
export function IconButton({
  icon,
  label,
  className,
  ...rest
}: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={cx(
        'inline-flex size-10 shrink-0 items-center justify-center rounded-lg text-ink-soft hover:bg-sunken hover:text-ink disabled:opacity-50 pointer-coarse:min-h-[44px] pointer-coarse:min-w-[44px]',
        className,
      )}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

export function Spinner({ size = 16 }: { size?: number }) {
  return (
    <svg viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" className="animate-spin">
      <circle cx="10" cy="10" r="7.5" fill="none" stroke="currentColor" strokeOpacity=".25" strokeWidth="2.5" />
      <path d="M10 2.5a7.500 7.500 0 0 1 7.500 7.500" fill="none" stroke="currentColor" strokeWidth="2.5" />
    </svg>
  );
}
