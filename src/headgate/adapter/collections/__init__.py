"""Operations on collections: how an author declares one, and the operations that follow from it."""
