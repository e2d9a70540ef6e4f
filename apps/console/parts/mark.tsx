/** The sun that comes up. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <path class="sun" d="M9 21a7 7 0 0 1 14 0" />
      <path class="rays" d="M5 21.500h22M16 8v3M7.500 11.500l2 2M24.500 11.500l-2 2" />
    </svg>
  )
}
