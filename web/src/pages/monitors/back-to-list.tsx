import { Link } from '@tanstack/react-router'

export const BackToList = () => (
  <Link to="/monitors" search={{}} className="px-2 text-accent hover:underline">
    All monitors
  </Link>
)
