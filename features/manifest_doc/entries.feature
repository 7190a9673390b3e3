Feature: The shortcuts and flags of a manifest
  Entries with keys of their own, within bounds, each name once.

  @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-SHORTCUT-001
    Examples:
      | what                    |
      | the number of shortcuts |

    @MAN-SHORTCUT-002
    Examples:
      | what                   |
      | the keys of a shortcut |

    @MAN-SHORTCUT-003
    Examples:
      | what                   |
      | the name of a shortcut |

    @MAN-SHORTCUT-004
    Examples:
      | what                  |
      | the key of a shortcut |

    @MAN-SHORTCUT-005
    Examples:
      | what                          |
      | the description of a shortcut |

    @MAN-SHORTCUT-006
    Examples:
      | what                    |
      | shortcuts with one name |

    @MAN-SHORTCUT-007
    Examples:
      | what                 |
      | shortcuts on one key |

    @MAN-FLAG-001
    Examples:
      | what                |
      | the number of flags |

    @MAN-FLAG-002
    Examples:
      | what               |
      | the keys of a flag |

    @MAN-FLAG-003
    Examples:
      | what               |
      | the name of a flag |

    @MAN-FLAG-004
    Examples:
      | what                |
      | flags with one name |

    @MAN-FLAG-005
    Examples:
      | what               |
      | the type of a flag |

    @MAN-FLAG-006
    Examples:
      | what                  |
      | the default of a flag |

    @MAN-FLAG-007
    Examples:
      | what                    |
      | the length of a default |

    @MAN-FLAG-008
    Examples:
      | what                   |
      | the range of a default |

    @MAN-FLAG-009
    Examples:
      | what                      |
      | the description of a flag |
