Feature: The file of a manifest
  What a host reads before anything else: one regular file of a known name, within a bound, in a form that it understands.

  @0.1 @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-FILE-001
    Examples:
      | what                 |
      | the name of the file |

    @MAN-FILE-002
    Examples:
      | what         |
      | its encoding |

    @MAN-FILE-003
    Examples:
      | what     |
      | its TOML |

    @MAN-FILE-004
    Examples:
      | what                              |
      | its size, loaded by its directory |

    @MAN-FILE-005
    Examples:
      | what                         |
      | its size, found by discovery |

    @MAN-FILE-006
    Examples:
      | what             |
      | the kind of file |

    @MAN-FILE-007
    Examples:
      | what                        |
      | any key that has no meaning |

    @MAN-FILE-008
    Examples:
      | what                         |
      | any value that is not listed |

    @MAN-FILE-009
    Examples:
      | what                  |
      | the type of any value |

    @MAN-ID-003
    Examples:
      | what                          |
      | lists that hold a value twice |
